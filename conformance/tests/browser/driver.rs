//! A headless browser behind WebDriver, ended with the test whatever becomes of it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// `chromedriver`, which ends when this is dropped, and its browsers with it.
pub(crate) struct Driver {
    child: Child,
    address: String,
}

/// A page in a browser.
pub(crate) struct Seen {
    client: Client,
    driver: Driver,
}

impl Driver {
    /// Starts it on a free port, or returns `None` when it or the browser is not installed.
    pub(crate) fn start() -> Option<Self> {
        let quiet = |program: &str| {
            let mut command = Command::new(program);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        if !quiet("chromium") {
            return None;
        }
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let lines = BufReader::new(child.stdout.take()?).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        match port {
            Some(port) => Some(Self { child, address: format!("http://127.0.0.1:{port}") }),
            None => {
                drop(Self { child, address: String::new() });
                None
            }
        }
    }

    /// Opens a page of this machine.
    pub(crate) async fn visit(self, page: &Path) -> Seen {
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"];
        let wanted = json!({
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let wanted: Capabilities = wanted.as_object().unwrap().clone();
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&self.address)
            .await
            .unwrap();
        client.goto(Url::from_file_path(page).unwrap().as_str()).await.unwrap();
        Seen { client, driver: self }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // There is nobody to tell that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Seen {
    /// Runs a script in the page, and returns its result.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// Presses a key, where the focus is.
    pub(crate) async fn press(&self, key: &str) {
        self.client.active_element().await.unwrap().send_keys(key).await.unwrap();
    }

    /// Gives the window a width in pixels, and the reader's preference for `light`, `dark` or
    /// `print`, which is paper.
    pub(crate) async fn shape(&self, width: u32, scheme: &str) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.tell("Emulation.setDeviceMetricsOverride", size).await;
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        let media = if scheme == "print" { "print" } else { "screen" };
        let wanted = json!({ "media": media, "features": features });
        self.tell("Emulation.setEmulatedMedia", wanted).await;
    }

    /// The whole page as PNG, or what the window shows of it.
    pub(crate) async fn picture(&self, whole: bool) -> Vec<u8> {
        let whole = json!({ "captureBeyondViewport": whole, "format": "png" });
        let answer = self.tell("Page.captureScreenshot", whole).await;
        let text = answer["data"].as_str().unwrap();
        base64::engine::general_purpose::STANDARD.decode(text).unwrap()
    }

    /// What the browser wrote to its console since the page was opened.
    pub(crate) async fn console(&self) -> Vec<Value> {
        let body = json!({ "type": "browser" });
        let log = self.client.issue_cmd(Raw { path: "se/log", body }).await.unwrap();
        log.as_array().unwrap().clone()
    }

    /// Ends the browser, then its driver.
    pub(crate) async fn leave(self) {
        self.client.close().await.unwrap();
        drop(self.driver);
    }

    async fn tell(&self, command: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": command, "params": parameters });
        self.client.issue_cmd(Raw { path: "goog/cdp/execute", body }).await.unwrap()
    }
}

/// A command that only this driver has.
#[derive(Debug)]
struct Raw {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Raw {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
