"""What scripts/bench_page.sh measures: a server on a store, asked over HTTP and by Chromium. Prints one line for each figure."""

import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def peak(pid, name="VmHWM"):
    """Memory of a process in MB, at its most or now."""
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith(name))
    return int(line.split()[1]) / 1024


def first_byte(host, path):
    """Seconds to the first byte and to the last, and how many bytes."""
    connection = http.client.HTTPConnection(host, timeout=600)
    begun = time.perf_counter()
    connection.request("GET", path, headers={"Accept": "text/html"})
    answer = connection.getresponse()
    first = time.perf_counter() - begun
    body = answer.read()
    connection.close()
    if answer.status != 200:
        sys.exit(f"{path}: {answer.status} {body[:300]!r}")
    return first, time.perf_counter() - begun, len(body)


class Browser:
    """Chromium through WebDriver."""

    def __init__(self):
        self.profile = tempfile.mkdtemp()
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = next(line for line in self.driver.stdout if "successfully on port" in line)
        self.host = "127.0.0.1:" + port.rsplit(" ", 1)[1].strip().rstrip(".")
        flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
        options = {"args": [*flags.split(), f"--user-data-dir={self.profile}", "--window-size=1200,900"]}
        told = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.session = "/session/" + told["sessionId"]

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=600)
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        value = json.loads(connection.getresponse().read())["value"]
        connection.close()
        return value

    def paint(self, address):
        """Milliseconds from the begin of the navigation to the first content on screen."""
        self.ask("POST", self.session + "/url", {"url": address})
        script = "return performance.getEntriesByName('first-contentful-paint').map((own) => own.startTime)[0] ?? null"
        for _ in range(600):
            found = self.ask("POST", self.session + "/execute/sync", {"script": script, "args": []})
            if found is not None:
                return found
            time.sleep(0.02)
        sys.exit("nothing was painted")

    def close(self):
        self.ask("DELETE", self.session)
        self.driver.kill()
        shutil.rmtree(self.profile, ignore_errors=True)


def main():
    kiln, store = sys.argv[1:]
    server = subprocess.Popen([kiln, "--store", store, "serve", "--port", "0", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = json.loads(server.stdout.readline())["address"]
        host = address.removeprefix("http://").rstrip("/")
        print(f"processors: {len(os.sched_getaffinity(0))}, load {os.getloadavg()[0]:.1f}")
        print(f"server, nothing asked yet: {peak(server.pid):.0f} MB")
        for name, path in [("list of studies", "/"), ("study", "/study/last"), ("study, filtered", "/study/last?t.VEC=8&top=500")]:
            first, whole, size = first_byte(host, path)
            again = [first_byte(host, path)[0] for _ in range(5)]
            print(f"{name}: first byte {first * 1e3:.0f} ms, again {statistics.median(again) * 1e3:.0f} ms, {size / 1024:.0f} kB")
            print(f"  memory {peak(server.pid, 'VmRSS'):.0f} MB, at most {peak(server.pid):.0f} MB")
        if shutil.which("chromedriver"):
            browser = Browser()
            paints = [browser.paint(address + "study/last") for _ in range(5)]
            browser.close()
            print(f"study, first paint: median {statistics.median(paints):.0f} ms, most {max(paints):.0f} ms")
        else:
            print("no chromedriver: no paint measured")
        print(f"server, at most: {peak(server.pid):.0f} MB")
    finally:
        server.terminate()
        server.wait()


main()
