//! The plugin's allocator, as the allocator of this test: what is held keeps what was written to it.

use midflight_bridge::pools::Pools;
use std::thread;

#[global_allocator]
static POOLS: Pools = Pools;

/// Numbers that look random
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// A piece that is aligned more than the lists' are
#[repr(align(64))]
struct Wide([u8; 70]);

/// Allocates, grows, shrinks and frees pieces of many sizes.
fn use_pieces(seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    let mut held: Vec<Vec<u8>> = Vec::new();
    let mut wide: Vec<Box<Wide>> = Vec::new();
    for step in 0..20_000 {
        let mark = step as u8;
        if held.len() < 200 {
            held.push(vec![mark; 1 + random.below(2000)]);
            let piece = Box::new(Wide([mark; 70]));
            assert_eq!(std::ptr::from_ref(&*piece).addr() % 64, 0);
            wide.push(piece);
            continue;
        }
        let place = random.below(held.len());
        let mut piece = held.swap_remove(place);
        let kept = piece[0];
        assert!(piece.iter().all(|&byte| byte == kept));
        let of_wide = wide.swap_remove(place).0;
        assert!(of_wide.iter().all(|&byte| byte == of_wide[0]));
        match step % 3 {
            0 => {
                piece.truncate(1 + random.below(piece.len()));
                piece.shrink_to_fit();
            }
            1 => piece.resize(piece.len() + random.below(1500), kept),
            _ => {
                let zeroed = vec![0_u8; 1 + random.below(2000)];
                assert!(zeroed.iter().all(|&byte| byte == 0));
                continue;
            }
        }
        assert!(piece.iter().all(|&byte| byte == kept));
        held.push(piece);
        wide.push(Box::new(Wide([mark; 70])));
    }
    held
}

#[test]
fn pieces_keep_what_is_written_to_them() {
    use_pieces(1);
}

#[test]
fn a_thread_may_free_what_another_one_has_allocated() {
    let threads: Vec<_> = (0..4).map(|seed| thread::spawn(move || use_pieces(seed))).collect();
    for held in threads.into_iter().map(|thread| thread.join().expect("it ends")) {
        for piece in held {
            assert!(piece.iter().all(|&byte| byte == piece[0]));
        }
        use_pieces(9);
    }
}
