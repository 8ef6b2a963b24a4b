//! A headless Chromium that does what people do: it is driven over its debugging pipe, where each
//! message is JSON that ends with a zero byte.
#![allow(dead_code, reason = "each test program uses a part")]

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Without what would ask the network.
const OPTIONS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
    // Else keys and clicks before the first frame are dropped, and answered as if they were not.
    "--allow-pre-commit-input",
];

/// A browser with one page.
pub struct Browser {
    child: Child,
    _folder: TempDir,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    number: u64,
    /// What the console complained about, and addresses that were asked for beside files
    pub faults: Vec<String>,
}

impl Browser {
    /// None, with a word on standard error, if there is no browser.
    pub fn new() -> Option<Self> {
        let is_there = |name: &&str| {
            let answer = Command::new(name).arg("--version").stderr(Stdio::null()).output();
            answer.is_ok_and(|output| output.status.success())
        };
        let Some(name) = NAMES.into_iter().find(is_there) else {
            // Past the test runner, which keeps what a test prints that does not fail.
            std::io::stderr().write_all(b"skipped: there is no Chromium\n").unwrap();
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let made = Command::new("mkfifo").args([path("to"), path("from")]).status().unwrap();
        assert!(made.success());
        // The pipe's ends are the descriptors 3 and 4 of the browser.
        let mut profile = std::ffi::OsString::from("--user-data-dir=");
        profile.push(path("profile"));
        let child = Command::new("sh")
            .args(["-c", r#"exec 3<"$1" 4>"$2"; shift 2; exec "$@""#, "sh"])
            .args([path("to"), path("from")])
            .arg(name)
            .args(OPTIONS)
            .arg(profile)
            .arg("--window-size=1400,900")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = OpenOptions::new().write(true).open(path("to")).unwrap();
        let from = BufReader::new(File::open(path("from")).unwrap());
        let faults = Vec::new();
        Some(Browser { child, _folder: folder, to, from, session: None, number: 0, faults })
    }

    /// Opens a file.
    pub fn open(&mut self, page: &Path) {
        self.session = None;
        let target = self.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.ask("Target.attachToTarget", attach);
        self.session = Some(session["sessionId"].as_str().unwrap().into());
        for part in ["Runtime.enable", "Log.enable", "Network.enable", "Page.enable"] {
            self.ask(part, json!({}));
        }
        self.ask("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        // Until then the empty page before it may still answer.
        self.wait_for("location.protocol === 'file:' && document.readyState === 'complete'");
        self.drawn();
    }

    /// The value of an expression of JavaScript.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let mut answer = self.ask("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Waits until what was done so far is drawn: what is not has no text to show.
    fn drawn(&mut self) {
        let drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";
        self.ask("Runtime.evaluate", json!({ "expression": drawn, "awaitPromise": true }));
    }

    /// The text that an element shows.
    pub fn text(&mut self, selector: &str) -> String {
        let value = self.value(&format!("document.querySelector({selector:?})?.innerText"));
        value.as_str().unwrap_or_else(|| panic!("there is no {selector}")).into()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.value(expression) != Value::Bool(true) {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "it never became true: {expression}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Moves the pointer to the middle of an element.
    pub fn point_at(&mut self, selector: &str) {
        self.pointer("mouseMoved", selector);
    }

    /// Clicks on an element.
    pub fn click(&mut self, selector: &str) {
        for event in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.pointer(event, selector);
        }
    }

    fn pointer(&mut self, event: &str, selector: &str) {
        let place = self.value(&format!(
            "(() => {{ const r = document.querySelector({selector:?}).getBoundingClientRect(); \
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        let pressed = event != "mouseMoved";
        let button = if pressed { "left" } else { "none" };
        self.ask(
            "Input.dispatchMouseEvent",
            json!({ "type": event, "x": place[0], "y": place[1], "button": button,
                "clickCount": u8::from(pressed) }),
        );
        self.drawn();
    }

    /// Presses a key, as `ArrowDown`, or a letter.
    pub fn press(&mut self, key: &str) {
        let mut pressed = json!({ "type": "keyDown", "key": key });
        match key {
            "Tab" => pressed["windowsVirtualKeyCode"] = 9.into(),
            "Enter" => {
                pressed["windowsVirtualKeyCode"] = 13.into();
                pressed["text"] = "\r".into();
            }
            letter if letter.chars().count() == 1 => pressed["text"] = letter.into(),
            _ => {}
        }
        self.ask("Input.dispatchKeyEvent", pressed);
        self.ask("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
        self.drawn();
    }

    /// Sets whether people prefer dark pages.
    pub fn prefer(&mut self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.ask("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
        self.drawn();
    }

    /// The picture of the page, as PNG in base64.
    pub fn picture(&mut self) -> String {
        let mut answer = self.ask("Page.captureScreenshot", json!({ "format": "png" }));
        let data = answer["data"].take();
        data.as_str().expect("a picture is text in base64").into()
    }

    /// Sends a command, and waits for its answer.
    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut message = self.receive();
            if message["id"] == self.number {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
            self.note(&message);
        }
    }

    fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser has gone away");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Keeps what should not happen.
    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        let is_fault = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => parameters["type"] != "log",
            Some("Log.entryAdded") => true,
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                !["file:", "data:", "about:"].iter().any(|scheme| url.starts_with(scheme))
            }
            _ => false,
        };
        if is_fault {
            self.faults.push(parameters.to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have gone away by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
