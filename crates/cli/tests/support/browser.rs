//! A Chromium without a window, told what to do over the DevTools protocol (version 1.3) through a pipe: file 3 for
//! commands, file 4 for answers, each a JSON object that ends with a zero byte.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Browser {
    child: Child,
    to: std::fs::File,
    from: BufReader<std::fs::File>,
    session: String,
    count: u64,
    profile: PathBuf,
}

impl Browser {
    /// `None` if no Chromium is installed; that is said aloud, past what keeps the output of tests.
    pub fn start(test: &str) -> Option<Browser> {
        let Some(program) = find() else {
            let _ = writeln!(std::io::stderr(), "skipped: {test}: no Chromium is installed");
            return None;
        };
        let (theirs_in, ours_out) = pipe();
        let (ours_in, theirs_out) = pipe();
        let profile = std::env::temp_dir().join(format!("porf-browser-{test}-{}", std::process::id()));
        let mut command = Command::new(program);
        command
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .args([
                "--no-first-run",
                "--disable-extensions",
                "--disable-dev-shm-usage",
                "--allow-file-access-from-files",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let (input, output) = (theirs_in.as_raw_fd(), theirs_out.as_raw_fd());
        // SAFETY: system calls between fork and exec. They go past 3 and 4 first, because they may be these themselves.
        unsafe {
            command.pre_exec(move || {
                let (input, output) =
                    (libc::fcntl(input, libc::F_DUPFD, 10), libc::fcntl(output, libc::F_DUPFD, 10));
                libc::dup2(input, 3);
                libc::dup2(output, 4);
                Ok(())
            });
        }
        let child = command.spawn().expect("Chromium starts");
        let (to, from) = (std::fs::File::from(ours_out), BufReader::new(std::fs::File::from(ours_in)));
        let mut browser = Browser { child, to, from, session: String::new(), count: 0, profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().expect("a session").to_string();
        Some(browser)
    }

    /// Opens a page in a window of a size, and waits until it is there.
    pub fn open(&mut self, page: &Path, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.call("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        self.wait("document.readyState === 'complete' && !!document.getElementById('rows')");
    }

    /// The value of an expression; an exception fails the test.
    pub fn eval(&mut self, expression: &str) -> Value {
        let answer =
            self.call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression holds.
    pub fn wait(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.eval(expression) != Value::Bool(true) {
            assert!(begun.elapsed() < Duration::from_secs(30), "never: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The number of elements that a selector finds.
    pub fn count(&mut self, selector: &str) -> u64 {
        self.eval(&format!("document.querySelectorAll({selector:?}).length")).as_u64().expect("a number")
    }

    /// Moves the pointer to the middle of the first element that a selector finds.
    pub fn hover(&mut self, selector: &str) -> (f64, f64) {
        let place = self.eval(&format!(
            "(() => {{ const box = document.querySelector({selector:?}).getBoundingClientRect(); \
             return [box.left + Math.min(box.width / 2, 40), box.top + box.height / 2]; }})()"
        ));
        let (x, y) = (place[0].as_f64().expect("a place"), place[1].as_f64().expect("a place"));
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
        (x, y)
    }

    pub fn click(&mut self, selector: &str) {
        let (x, y) = self.hover(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key: its name, or a character.
    pub fn key(&mut self, key: &str) {
        let mut event = json!({ "type": "keyDown", "key": key });
        if key.chars().count() == 1 {
            event["text"] = json!(key);
        }
        self.call("Input.dispatchKeyEvent", event);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    /// Keeps a picture among the artefacts of the build.
    pub fn screenshot(&mut self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../screenshots");
        std::fs::create_dir_all(&folder).expect("the target directory is writable");
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = base64(answer["data"].as_str().expect("a picture"));
        assert!(bytes.starts_with(b"\x89PNG"));
        std::fs::write(folder.join(format!("{name}.png")), bytes).expect("the target directory is writable");
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.count += 1;
        let mut command = json!({ "id": self.count, "method": method, "params": params });
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{command}\0").as_bytes()).expect("Chromium listens");
        loop {
            let mut line = Vec::new();
            let read = self.from.read_until(0, &mut line).expect("Chromium answers");
            assert!(read > 0, "Chromium has ended");
            let answer: Value = serde_json::from_slice(&line[..line.len() - 1]).expect("JSON");
            if answer["id"] == self.count {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("PORF_CHROMIUM") {
        return Some(path.into());
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
}

/// The end to read from, and the end to write to.
fn pipe() -> (OwnedFd, OwnedFd) {
    let (read, write) = std::io::pipe().expect("a pipe");
    (read.into(), write.into())
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for digit in digits {
        bits = bits << 6 | digit as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
