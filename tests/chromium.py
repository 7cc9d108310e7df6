"""A headless Chromium, driven over its debugging pipe: no package but the browser is needed."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def browser() -> str:
    """The program; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"needs one of {', '.join(NAMES)} (Debian: apt-get install chromium)")
    return found


class Tab:
    """One page."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = os.fdopen(reading, "rb", buffering=0)
        self._writing = os.fdopen(writing, "wb", buffering=0)
        self._rest, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> Any:
        """Call a method of the DevTools protocol; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._writing.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = self._reading.read(1 << 20)
            assert piece, "Chromium has ended"
            self._rest += piece
        answer, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(answer)
        return found

    def open(self, page: Path) -> None:
        """Load a file and wait until its scripts have run."""
        self.events = [one for one in self.events if one.get("method") != "Page.loadEventFired"]
        self.send("Page.navigate", url=page.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def resize(self, width: int, height: int = 900, mobile: bool = False) -> None:
        """Show the page in a window of this size, in CSS pixels."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    def emulate(self, media: str = "screen", scheme: str = "light") -> None:
        """Show the page on a medium in a colour scheme."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=media, features=features)

    def run(self, script: str) -> Any:
        """Value of an expression of JavaScript; a promise is awaited."""
        answer = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str, code: int = 0, text: str = "") -> None:
        """Press a key and let it go."""
        own: Mapping[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **own)
        self.send("Input.dispatchKeyEvent", type="keyUp", **own)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A mouse event, such as mousePressed."""
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button | more)

    def screenshot(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def pdf(self, width: float, height: float) -> bytes:
        """The page on paper of this size, in inches."""
        answer = self.send(
            "Page.printToPDF",
            paperWidth=width,
            paperHeight=height,
            printBackground=True,
            preferCSSPageSize=False,
        )
        return base64.b64decode(answer["data"])

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, exceptions, dialogs and requests to the network."""
        self.run("0")  # what was said before is here now
        found = []
        for event in self.events:
            method, what = event.get("method", ""), event.get("params", {})
            if method in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening"):
                found.append(json.dumps(what))
            elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
                found.append(json.dumps(what["args"]))
            elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append(what["entry"]["text"])
        return found


@contextmanager
def opened(profile: Path) -> Iterator[Tab]:
    """A browser with an empty page; its profile lies in the folder."""
    into, theirs = os.pipe(), os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD, 60) for end in (into[0], theirs[1])]
    flags = [
        *("--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars"),
        *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        f"--user-data-dir={profile}",
    ]
    words = ["bash", "-c", f'exec "$@" 3<&{high[0]} 4>&{high[1]}', "bash", browser(), *flags]
    with subprocess.Popen(
        words, pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        for end in (*high, into[0], theirs[1]):
            os.close(end)
        try:
            yield Tab(theirs[0], into[1])
        finally:
            process.kill()
