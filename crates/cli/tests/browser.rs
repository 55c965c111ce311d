//! The page of each verb in a real browser: what the pointer and the keys do, and how it looks.
//!
//! Skipped, and said so, where no Chromium is installed. Pictures are kept in `target/screenshots`.

#[path = "support/browser.rs"]
mod browser;

use browser::Browser;
use porf_corpus::expected::folder;
use std::path::{Path, PathBuf};
use std::process::Command;

const PORF: &str = env!("CARGO_BIN_EXE_porf");

/// `porf` writes a page; the exit code must be as given.
fn page(name: &str, args: &[&str], rest: &[&str], code: i32) -> PathBuf {
    let page = directory().join(format!("{name}.html"));
    let mut command = Command::new(PORF);
    command.args(args).arg("--html").arg(&page).args(rest).current_dir(root());
    let output = command.output().expect("porf runs");
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    page
}

fn directory() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("browser");
    std::fs::create_dir_all(&path).expect("the target directory is writable");
    path
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// No row has text where an arrow goes down.
const CROSSINGS: &str = "(() => {
  const cells = [...document.querySelectorAll('.cell')].map(cell => cell.getBoundingClientRect());
  let crossings = 0;
  for (const path of document.querySelectorAll('path.edge')) {
    const length = path.getTotalLength(), box = document.getElementById('arrows').getBoundingClientRect();
    for (let at = 6; at < length - 14; at += 4) {
      const point = path.getPointAtLength(at), x = point.x + box.left, y = point.y + box.top;
      crossings += cells.some(cell => x > cell.left + 4 && x < cell.right - 4 && y > cell.top + 4 && y < cell.bottom - 4);
    }
  }
  return crossings;
})()";

#[test]
fn a_violation() {
    let Some(mut browser) = Browser::start("violation") else { return };
    let page = page("violation", &["verify", "examples/message.c"], &[], 1);
    browser.open(&page, 1360, 760);
    assert_eq!(browser.eval("document.getElementById('verdict').textContent"), "violated");
    assert!(browser.count(".row") >= 6);
    assert_eq!(browser.eval(CROSSINGS), 0);
    assert!(
        browser
            .eval("document.getElementById('help').textContent")
            .as_str()
            .unwrap()
            .contains("memory_order_release")
    );
    assert!(
        browser
            .eval("document.getElementById('detail').textContent")
            .as_str()
            .unwrap()
            .contains("rc11 allows it")
    );
    browser.screenshot("verify");
    // The pointer: the event, its arrows and its line.
    browser.hover(".row[data-id='T2.0'] .cell");
    assert_eq!(browser.eval("document.querySelector('#code .pick').dataset.line"), "18");
    assert!(browser.count("path.edge.hot") > 0 && browser.count(".row.hover[data-id='T2.0']") == 1);
    // A click keeps it, Escape lets go.
    browser.click(".row[data-id='T1.1'] .cell");
    assert_eq!(browser.count(".row.pin[data-id='T1.1']"), 1);
    browser.hover("#title");
    assert_eq!(browser.eval("document.querySelector('#code .pin').dataset.line"), "12");
    browser.screenshot("verify-pinned");
    // Keys step on, by row and by thread.
    browser.key("ArrowDown");
    assert_eq!(browser.count(".row.pin[data-id='T2.0']"), 1);
    browser.key("ArrowRight");
    assert_eq!(browser.count(".row.pin[data-id='T2.1']"), 1);
    browser.key("Escape");
    assert_eq!(browser.count(".row.pin"), 0);
    // Relations are switched on and off.
    let before = browser.count("path.edge[data-name='rf']");
    browser.click(".relation[data-name='why']");
    browser.click(".relation[data-name='rf']");
    assert!(before > 0 && browser.count("path.edge") == 0);
    browser.click(".relation[data-name='fr']");
    assert!(browser.count("path.edge[data-name='fr']") > 0);
    // The explanation leads to the events that it names.
    browser.key("w");
    browser.click("#detail li > span");
    assert_eq!(browser.count(".row.pin"), 1);
    browser.key("d");
    assert!(
        browser.eval("['light', 'dark'].includes(document.documentElement.dataset.theme)").as_bool().unwrap()
    );
    browser.eval("document.documentElement.dataset.theme = 'dark'");
    browser.screenshot("verify-dark");
    browser.key("?");
    assert_eq!(browser.eval("document.getElementById('legend').open"), true);
    browser.screenshot("legend");
}

#[test]
fn a_narrow_window() {
    let Some(mut browser) = Browser::start("narrow") else { return };
    let page = page("narrow", &["verify", "examples/message.c"], &[], 1);
    browser.open(&page, 560, 860);
    // The source stays in sight, and nothing is wider than the window.
    let seen = "(() => { const box = document.getElementById('code').getBoundingClientRect(); return box.height > 80 && box.bottom <= innerHeight; })()";
    assert_eq!(browser.eval(seen), true);
    assert_eq!(browser.eval("document.documentElement.scrollWidth <= innerWidth"), true);
    browser.click(".row[data-id='T1.1'] .cell");
    assert_eq!(browser.eval("document.querySelector('#code .pin').dataset.line"), "12");
    browser.screenshot("narrow");
}

#[test]
fn seven_hundred_events_of_eight_threads() {
    let Some(mut browser) = Browser::start("large") else { return };
    let source = directory().join("large.c");
    std::fs::write(&source, LARGE).expect("writable");
    let page = page("large", &["verify", "--no-hints", source.to_str().unwrap()], &[], 1);
    browser.open(&page, 1500, 900);
    assert_eq!(browser.eval("state.view.threads.length"), 9);
    assert!(browser.eval("state.view.events.length").as_u64().unwrap() > 700);
    // Only what is in sight is drawn.
    assert!(browser.count(".row") < 100);
    browser.eval("document.getElementById('scroll').scrollTop = 6000");
    browser
        .wait("!!document.querySelector('.row') && Number(document.querySelector('.row').dataset.row) > 100");
    assert_eq!(browser.eval("document.getElementById('heads').getBoundingClientRect().top >= document.getElementById('scroll').getBoundingClientRect().top"), true);
    assert_eq!(browser.eval(CROSSINGS), 0);
    // Search: Enter goes from match to match; the rest can be hidden.
    browser.key("/");
    browser.eval("document.getElementById('search').value = 'cells[5]'; document.getElementById('search').dispatchEvent(new Event('input'))");
    let matches = browser.eval("state.matches.length").as_u64().unwrap();
    assert!(matches >= 80, "{matches}");
    browser.key("Enter");
    assert_eq!(browser.count(".row.pin.match"), 1);
    // Its column has come into sight.
    let seen = "(() => { const cell = document.querySelector('.row.pin .cell').getBoundingClientRect(), box = document.getElementById('scroll').getBoundingClientRect(); return cell.left >= box.left && cell.right <= box.right; })()";
    assert_eq!(browser.eval(seen), true);
    // Numbers of events lie above what is scrolled under them.
    let under = "getComputedStyle(document.querySelector('.row.match .id')).backgroundColor";
    assert_ne!(browser.eval(under), "rgba(0, 0, 0, 0)");
    browser.screenshot("large");
    browser.click("#only");
    assert_eq!(browser.eval("state.rows.length").as_u64().unwrap(), matches);
    // A step takes a frame or two, however many events there are.
    browser.eval("document.getElementById('only').click()");
    let steps = "(() => { const begin = performance.now(); for (let i = 0; i < 50; i++) step(1); return performance.now() - begin; })()";
    let spent = browser.eval(steps).as_f64().unwrap();
    println!("50 steps: {spent:.0} ms");
}

#[test]
fn a_litmus_test_under_two_models() {
    let Some(mut browser) = Browser::start("litmus") else { return };
    let test = folder("litmus/c11/SB+rlx+rlx.litmus");
    let page = page("litmus", &["litmus", "--model", "sc,rc11", test.to_str().unwrap()], &[], 0);
    browser.open(&page, 1360, 760);
    let groups = browser.eval("[...document.querySelectorAll('optgroup')].map(group => group.label)");
    assert_eq!(groups, serde_json::json!(["sc: forbidden", "sc: allowed", "rc11: allowed"]));
    assert!(
        browser
            .eval("document.getElementById('detail').textContent")
            .as_str()
            .unwrap()
            .contains("sc forbids it")
    );
    assert!(browser.count("path.edge.why") >= 4);
    assert_eq!(browser.eval(CROSSINGS), 0);
    browser.screenshot("litmus");
    // Under sc every allowed execution is shown as an interleaving: no read stands below the write that it misses.
    let straight = "data.views.filter(view => view.group === 'sc: allowed').every(view => view.interleaves && \
        (view.edges.fr || []).every(([read, write]) => view.events.findIndex(e => e.id === read) < view.events.findIndex(e => e.id === write)))";
    assert_eq!(browser.eval(straight), true);
    browser.key("]");
    assert_eq!(browser.eval("state.view.index"), 1);
}

#[test]
fn two_models_side_by_side() {
    let Some(mut browser) = Browser::start("against") else { return };
    let page =
        page("against", &["verify", "examples/message.c", "--model", "rc11", "--against", "sc"], &[], 1);
    browser.open(&page, 1360, 760);
    let why = browser.eval("document.getElementById('detail').textContent");
    let why = why.as_str().unwrap();
    assert!(why.contains("rc11 allows it") && why.contains("sc forbids it"), "{why}");
    browser.screenshot("against");
}

#[test]
fn a_run_with_buffers() {
    let Some(mut browser) = Browser::start("prove") else { return };
    let system = folder("prove/dekker-nofence.cub");
    let page = page("prove", &["prove", system.to_str().unwrap(), "--model", "tso"], &[], 1);
    browser.open(&page, 1360, 760);
    browser.key("ArrowDown");
    browser.key("ArrowDown");
    let detail = browser.eval("document.getElementById('detail').textContent");
    assert!(detail.as_str().unwrap().contains("buffers"), "{detail}");
    assert!(
        browser
            .eval("document.querySelector('#code .pin').textContent")
            .as_str()
            .unwrap()
            .contains("transition")
    );
    browser.screenshot("prove");
}

#[test]
fn findings_of_the_sampler_and_a_replay() {
    let Some(mut browser) = Browser::start("sample") else { return };
    let (source, program) = (directory().join("race.c"), directory().join("race"));
    std::fs::write(&source, RACE).expect("writable");
    let built = Command::new(PORF).arg("cc").args(["-g", "-o"]).args([&program, &source]).status();
    assert!(built.expect("porf runs").success());
    let sampled = page("sample", &["sample", "--executions", "20"], &["--", program.to_str().unwrap()], 1);
    browser.open(&sampled, 1360, 760);
    // The execution around the race: both accesses, and what was before them.
    assert_eq!(browser.count(".cell.marked"), 2);
    let rows = browser.eval("state.view.events.map(event => event.text)").to_string();
    assert!(rows.contains("start T1") && rows.contains("counter"), "{rows}");
    let threads = browser.eval("state.view.threads.map(thread => thread.name)");
    assert_eq!(threads, serde_json::json!(["main", "run"]));
    assert!(
        browser.eval("document.getElementById('code').textContent").as_str().unwrap().contains("counter++")
    );
    browser.screenshot("sample");
    let witness = directory().join("race.json");
    let verified = ["verify", source.to_str().unwrap(), "--witness", witness.to_str().unwrap()];
    page("race", &verified, &[], 1);
    let replayed = page("replay", &["replay", witness.to_str().unwrap()], &[], 1);
    browser.open(&replayed, 1360, 760);
    assert!(browser.count(".row") >= 3);
    browser.screenshot("replay");
}

const RACE: &str = "#include <pthread.h>\nint counter;\nvoid *run(void *a) {\n  counter++;\n  return a;\n}\n\
                    int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, run, 0);\n  run(0);\n  \
                    pthread_join(t, 0);\n}\n";

/// One execution of many events: each thread has a cell of its own.
const LARGE: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int cells[8], sum;\n\
    void *run(void *arg) {\n  int id = (int)(long)arg;\n  for (int i = 0; i < 45; i++) {\n    \
    atomic_store_explicit(&cells[id], i, memory_order_release);\n    \
    if (atomic_load_explicit(&cells[id], memory_order_acquire) != i) return 0;\n  }\n  return 0;\n}\n\
    int main(void) {\n  pthread_t t[8];\n  for (long i = 0; i < 8; i++) pthread_create(&t[i], 0, run, (void *)i);\n  \
    for (int i = 0; i < 8; i++) pthread_join(t[i], 0);\n  \
    assert(atomic_load_explicit(&cells[3], memory_order_relaxed) != 44);\n}\n";
