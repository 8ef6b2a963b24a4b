//! Readers of exports that are not ours, or are made from a schema.

use crate::support::Fixture;
use std::io::Read;
use std::process::Command;

/// What callgrind_annotate makes of a file.
pub fn annotated(fixture: &Fixture, options: &[&str]) -> Option<String> {
    let output = Command::new("callgrind_annotate")
        .args(options)
        .arg("callgrind.out")
        .current_dir(fixture.folder.path())
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no callgrind_annotate (Debian: valgrind)");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The fields of a message of protocol buffers: number, value or bytes.
pub fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let end = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let (own, rest) = bytes.split_at(end);
        *bytes = rest;
        own.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = varint(&mut bytes);
        match tag & 7 {
            0 => fields.push((tag >> 3, value, vec![])),
            2 => {
                let (own, rest) = bytes.split_at(value as usize);
                bytes = rest;
                fields.push((tag >> 3, 0, own.to_vec()));
            }
            other => panic!("{other}"),
        }
    }
    fields
}

/// What gzip has packed.
pub fn unpacked(file: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}
