"""A client from the official Python SDK against `kiln mcp`: lists and calls every tool, and holds every answer against its schema.

client.py KILN FOLDER MODE, where MODE is `legacy` (the revision with a handshake) or a revision without one. FOLDER has a kernel that runs on a
processor. Nothing here depends on how long anything takes: what is waited for is waited for until it is there.
"""

import asyncio
import json
import os
import re
import sys

import jsonschema
from mcp import Client, MCPError, StdioServerParameters

KILN, FOLDER, MODE = sys.argv[1:4]
KERNEL = "sample"
ENVIRONMENT = {name: os.environ[name] for name in ("KILN_PYTHON", "CC") if name in os.environ}


def server(*words):
    return StdioServerParameters(command=KILN, args=["mcp", *words], cwd=FOLDER, env=ENVIRONMENT)


class Judge:
    """Calls tools and holds what they answer against what they promised."""

    def __init__(self, client, tools):
        self.client = client
        self.tools = {tool.name: tool for tool in tools}
        self.called = set()

    async def call(self, name, arguments, error=False, **more):
        self.called.add(name)
        answer = await self.client.call_tool(name, arguments, **more)
        found = answer.structured_content
        jsonschema.Draft202012Validator(self.tools[name].output_schema).validate(found)
        assert json.loads(answer.content[-1].text) == found, name
        assert bool(answer.is_error) == error, (name, answer.content[0].text)
        if error:
            assert found["errors"] and "errors" in found, found
            return found
        evidence = found["evidence"]
        if evidence is not None:
            assert evidence["not_checked"], name
            assert evidence["may_claim"], name
        return found


async def listed(client):
    first, second = await client.list_tools(), await client.list_tools()
    names = [tool.name for tool in first.tools]
    assert names == [tool.name for tool in second.tools] and len(names) == len(set(names))
    for tool in first.tools:
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.input_schema["additionalProperties"] is False
        notes = tool.annotations
        for stated in (notes.read_only_hint, notes.destructive_hint, notes.idempotent_hint, notes.open_world_hint):
            assert stated is not None, tool.name
        assert len(tool.description) > 60, tool.name
    return first.tools


async def read_everything(client):
    resources = (await client.list_resources()).resources
    uris = [str(resource.uri) for resource in resources]
    assert "kiln://schema/kernel.toml" in uris and "kiln://docs/mcp.md" in uris and "kiln://studies" in uris
    for uri in uris:
        text = (await client.read_resource(uri)).contents[0].text
        assert text, uri
        if uri.startswith(("kiln://schema", "kiln://studies")):
            json.loads(text)
        # A report is the same that `kiln report` writes, and its figures can be read.
        if uri.startswith("kiln://reports/"):
            figures = re.findall(r"\]\((kiln://reports/[^)]+\.svg)\)", text)
            assert figures and "## " in text, text
            for figure in figures[:2]:
                assert (await client.read_resource(figure)).contents[0].text.startswith("<svg"), figure
    templates = (await client.list_resource_templates()).resource_templates
    assert {template.uri_template for template in templates} >= {"kiln://studies/{study}", "kiln://reports/{study}"}
    for uri in ("kiln://docs/none", "kiln://studies/none", "file:///etc/passwd", "kiln://docs/../../etc/passwd", "kiln://reports/../../etc/passwd", "kiln://reports/last/none.svg"):
        try:
            await client.read_resource(uri)
        except MCPError:
            continue
        raise AssertionError(f"{uri} was read")
    prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["make_this_kernel_faster", "judge_this_kernel"]
    for prompt in prompts:
        got = await client.get_prompt(prompt.name, {"kernel": KERNEL})
        assert KERNEL in got.messages[0].content.text and "What `next` says now" in got.messages[0].content.text
    return uris


async def until(ask, is_there):
    """Asks until something is there."""
    while True:
        found = await ask()
        if is_there(found):
            return found
        await asyncio.sleep(0.05)


async def tools_that_run(judge):
    told = []

    async def hear(progress, total, message):
        told.append((progress, message))

    call = judge.call
    assert (await call("doctor", {}))["result"]["findings"]
    assert (await call("next", {"kernel": KERNEL}))["result"]["do"]
    assert (await call("next", {"kernel": KERNEL, "what": "tree"}))["result"]
    assert (await call("next", {"kernel": KERNEL, "what": "checklist"}))["result"]["items"]
    space = await call("describe", {"path": KERNEL, "target": "cpu", "sample": 3})
    assert len(space["result"]["configurations"]) == 3
    gated = await call("gate", {"path": KERNEL, "target": "cpu", "until": "rules"})
    assert gated["evidence"]["verdict"] == "passed"
    gated = await call("gate", {"path": KERNEL, "target": "cpu"})
    assert gated["result"]["ladder"]["passed"] is True
    assert (await call("gate", {"path": KERNEL, "arch": "all", "until": "rules"}))["result"]["architectures"]
    checked = await call("check", {"path": KERNEL, "target": "cpu", "seed": 7}, progress_callback=hear)
    assert checked["evidence"]["verdict"] == "passed" and checked["result"]["seed"] == 7
    assert checked["evidence"]["n"] == len(checked["result"]["questions"]) > 0
    fuzzed = await call("fuzz", {"path": KERNEL, "target": "cpu", "cases": 10, "configs": 2}, progress_callback=hear)
    assert fuzzed["result"]["cases_passed"] + fuzzed["result"]["not_run"] >= 1
    benched = await call("bench", {"path": KERNEL, "target": "cpu", "samples": 25, "max_samples": 25, "width": 50}, progress_callback=hear)
    assert [number for number, _ in told] and told[-1][1]
    figures = [one for one in benched["evidence"]["intervals"] if one["what"] == "speedup"]
    assert figures and all(one["n"] >= 25 and len(one["ci95"]) == 2 and one["against"] for one in figures)
    assert benched["evidence"]["environment"]["device"]
    alone = await call("bench", {"path": KERNEL, "target": "cpu", "samples": 25, "max_samples": 25, "width": 50, "only_baselines": True})
    assert alone["evidence"]["verdict"] == "no comparison"
    refused = await call("bench", {"path": KERNEL, "target": "cpu", "config": "LANES=3"}, error=True)
    assert refused["ending"] == "bad_input"
    runs = (await call("history", {"limit": 5}))["result"]["runs"]
    ids = [run["id"] for run in runs if run["config"]]
    shown = await call("show", {"study": ids[0]})
    assert shown["result"]["run"]["id"] == ids[0] and shown["evidence"]["intervals"]
    compared = await call("compare", {"base": ids[0], "candidate": ids[0]})
    assert compared["evidence"]["n"] >= 25
    profiled = await call("profile", {"path": KERNEL, "target": "cpu"}, progress_callback=hear)
    assert profiled["evidence"]["may_claim"]
    sanitized = await call("sanitize", {"path": KERNEL, "target": "cpu"}, progress_callback=hear)
    assert sanitized["result"]["verdict"] in ("clean", "not_run", "inconclusive")
    with open(os.path.join(FOLDER, "asan.log"), "w") as log:
        log.write("==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x1 bp 0x2 sp 0x3\nREAD of size 4 at 0x602000000014 thread T0\n    #0 0x1 in f a.c:3\nSUMMARY: AddressSanitizer: heap-buffer-overflow a.c:3 in f\n")
    assert (await call("diagnose", {"logs": ["asan.log"]}))["evidence"]["verdict"] == "bugs_found"
    assert (await call("diagnose", {"calibration": True}))["evidence"] is None
    assert (await call("diagnose", {"predict": True, "path": KERNEL, "arch": "sm_90a"}))["evidence"]["verdict"] == "predicted"
    await call("diagnose", {}, error=True)
    with open(os.path.join(FOLDER, "claims.toml"), "w") as claims:
        claims.write(f'[[claims]]\nclaim = "never slower than a tenth"\nkernel = "{KERNEL}"\ntarget = "cpu"\nbaseline = "naive"\nspeedup = 0.01\n')
    claimed = await call("claims", {"file": "claims.toml", "samples": 25, "max_samples": 25, "width": 50})
    assert claimed["evidence"]["n"] == 1, claimed
    lessons = (await call("lessons_search", {"words": ["alignment"], "limit": 2}))["result"]["lessons"]
    assert 1 <= len(lessons) <= 2
    assert (await call("lessons_show", {"id": lessons[0]["id"]}))["result"]["remedy"]
    await call("lessons_show", {"id": "none"}, error=True)


async def hostile(judge):
    """Clear errors, never a crash; the server answers afterwards."""
    long, deep = "x" * 10_000_000, []
    for _ in range(60):
        deep = [deep]
    for name, arguments, words in [
        ("check", {"path": "../.."}, "outside of the project"),
        ("check", {"path": "/etc/passwd"}, "outside of the project"),
        ("check", {"path": "link"}, "outside of the project"),
        ("check", {"path": long}, "bytes"),
        ("check", {"path": "nowhere"}, "nowhere"),
        ("check", {"path": "a\0b"}, "NUL"),
        ("check", {"path": KERNEL, "config": deep}, "expected a string"),
        ("check", {"path": KERNEL, "config": "'; rm -rf /"}, ""),
        ("check", {"path": KERNEL, "seed": 1e308}, "expected a whole number"),
        ("check", {"path": KERNEL, "seed": -1}, "expected a whole number"),
        ("check", {"path": KERNEL, "full": "yes"}, "expected true or false"),
        ("check", {"path": KERNEL, "command": "ls"}, "unknown argument `command`"),
        ("bench", {"path": KERNEL, "samples": 10**30}, "expected a whole number"),
        ("bench", {"path": KERNEL, "minutes": 1e9}, "expected a number"),
        ("bench", {"path": KERNEL, "study": "../../etc/passwd"}, ""),
        ("diagnose", {"logs": ["/etc/passwd"]}, "outside of the project"),
        ("claims", {"file": "../claims.toml"}, "outside of the project"),
        ("claims", {}, "the argument `file` is missing"),
        ("compare", {"base": "/etc/passwd", "candidate": "last"}, "outside of the project"),
        ("history", {"kernel": "../x"}, "outside of the project"),
        ("history", {"limit": 0}, "expected a whole number"),
        ("show", {"study": "x' OR 1=1 --"}, ""),
        ("show", {"study": {"$ne": 1}}, "expected a string"),
        ("tune_start", {"path": KERNEL, "trials": 10**9}, "expected a whole number"),
        ("tune_start", {"path": KERNEL, "workload": "--store=/tmp/x", "target": "cpu"}, ""),
        ("tune_stop", {"study": "none"}, ""),
        ("lessons_search", {"words": ["x"] * 1000}, "found a list of 1000"),
    ]:
        found = await judge.call(name, arguments, error=True)
        said = json.dumps(found["errors"])
        assert words in said and len(said) < 20_000, (name, words, said[:500])
        assert len(json.dumps(found)) < 40_000
    try:
        await judge.client.call_tool("rm", {})
    except MCPError as error:
        assert "unknown tool" in str(error)
    else:
        raise AssertionError("a tool that there is not was called")
    assert (await judge.call("describe", {"path": KERNEL, "target": "cpu"}))["result"]["valid"]


def over(found):
    return found["result"]["state"] in ("finished", "interrupted", "failed")


async def study(tools):
    """A client that goes away leaves its study running and findable; another stops it, and it goes on to its end."""
    long = {"path": KERNEL, "target": "cpu", "trials": 10000, "minutes": 600, "seed": 1, "no_stop": True, "strategy": "random", "name": f"long-{MODE}"}
    async with Client(server(), mode=MODE) as client:
        judge = Judge(client, tools)
        started = (await judge.call("tune_start", long))["result"]
        handle = started["study"] or started["launch"]
        found = await until(lambda: judge.call("tune_status", {"study": handle}), lambda found: (found["result"]["progress"] or {}).get("tried", 0) > 2)
        name = found["result"]["study"]
        assert found["evidence"]["may_claim"].startswith("Nothing"), found["evidence"]
        busy = await judge.call("check", {"path": KERNEL, "target": "cpu"}, error=True)
        assert "busy" in busy["errors"][0]["message"], busy
        called = judge.called
    # The server is gone by now.
    async with Client(server(), mode=MODE) as client:
        judge = Judge(client, tools)
        found = await judge.call("tune_status", {"study": name})
        assert found["result"]["state"] == "running", found["result"]["state"]
        more = found["result"]["progress"]["tried"]
        await until(lambda: judge.call("tune_status", {"study": name}), lambda found: found["result"]["progress"]["tried"] > more)
        assert name in {one["id"] for one in (await judge.call("history", {}))["result"]["studies"]}
        assert (await judge.call("tune_stop", {"study": f"long-{MODE}"}))["result"]["study"] == name
        ended = await until(lambda: judge.call("tune_status", {"study": name, "wait_s": 5}), over)
        assert ended["result"]["state"] == "interrupted", ended["result"]
        await judge.call("tune_stop", {"study": name}, error=True)
        kept = len((await judge.call("show", {"study": name, "trials": 1000}))["result"]["trials"])
        assert kept > 2
        short = {"path": KERNEL, "target": "cpu", "trials": 3, "samples": 25, "no_stop": True, "no_ablation": True, "seed": 5, "no_prior": True}
        started = (await judge.call("tune_start", short))["result"]

        async def ask():
            told = []

            async def hear(progress, total, message):
                told.append(progress)

            found = await judge.call("tune_status", {"study": started["study"] or started["launch"], "wait_s": 20}, progress_callback=hear)
            # Every number is greater than the last.
            assert told and told == sorted(set(told)), told
            return found

        ended = await until(ask, over)
        assert ended["result"]["state"] == "finished", ended["result"]
        summary = ended["result"]["record"]["summary"]
        assert summary["trials"] <= 4 and summary["seed"] == 5 and summary["target_speedup"], summary
        assert ended["evidence"]["intervals"] and ended["evidence"]["refusals"] is not None
        shown = await judge.call("show", {"study": ended["result"]["study"], "trials": 1})
        assert len(shown["result"]["trials"]) == 1
        uris = await read_everything(client)
        assert f"kiln://reports/{ended['result']['study']}" in uris
        # A mistake in what was asked for comes back in kiln's own words.
        wrong = await judge.call("tune_start", {**short, "baseline": "none"}, error=True)
        assert "none" in json.dumps(wrong["errors"]), wrong
        return called | judge.called


async def cancelled(tools):
    """A call that is given up stops, and leaves the project free."""
    async with Client(server(), mode=MODE) as client:
        judge = Judge(client, tools)
        begun = asyncio.Event()

        async def hear(progress, total, message):
            begun.set()

        arguments = {"path": KERNEL, "target": "cpu", "cases": 100000, "configs": 1000, "minutes": 120}
        call = asyncio.create_task(client.call_tool("fuzz", arguments, progress_callback=hear))
        # What has told something has the lock.
        await asyncio.wait({call, asyncio.ensure_future(begun.wait())}, return_when=asyncio.FIRST_COMPLETED)
        assert not call.done(), call.result()
        busy = lambda: judge.client.call_tool("gate", {"path": KERNEL, "target": "cpu"})
        refused = await busy()
        assert refused.is_error and "busy: fuzz of sample" in refused.content[0].text, refused.content[0].text
        call.cancel()
        try:
            await call
        except asyncio.CancelledError:
            pass
        await until(busy, lambda answer: not answer.is_error)


async def looking(tools):
    """A server that may only look offers nothing else, and leaves the folder as it was."""
    before = everything()
    async with Client(server("--read-only"), mode=MODE) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert not names & {"gate", "check", "fuzz", "bench", "profile", "sanitize", "claims", "tune_start", "tune_stop"}, names
        judge = Judge(client, tools)
        for name, arguments in [("doctor", {"path": KERNEL}), ("describe", {"path": KERNEL}), ("next", {"kernel": KERNEL}), ("history", {}), ("compare", {"base": "last", "candidate": "last"})]:
            if name == "compare":
                ids = [run["id"] for run in (await judge.call("history", {}))["result"]["runs"] if run["config"]]
                arguments = {"base": ids[0], "candidate": ids[0]}
            await judge.call(name, arguments)
        try:
            await client.call_tool("check", {"path": KERNEL})
        except MCPError as error:
            assert "--read-only" in str(error), error
        else:
            raise AssertionError("a tool that writes was called")
    assert everything() == before, set(everything()) ^ set(before)


def everything():
    """Every file with what it holds, but for the store, whose engine folds its own journal when somebody reads."""
    found = {}
    for folder, _, files in os.walk(FOLDER):
        for name in files:
            path = os.path.join(folder, name)
            if not name.startswith("kiln.db") and not os.path.islink(path):
                found[path] = open(path, "rb").read()
    return found


async def main():
    async with Client(server(), mode=MODE) as client:
        expected = "2025-11-25" if MODE == "legacy" else MODE
        assert client.protocol_version == expected, client.protocol_version
        if MODE == "legacy":
            assert "evidence.may_claim" in client.instructions and client.server_info.name == "kiln"
        tools = await listed(client)
        judge = Judge(client, tools)
        await tools_that_run(judge)
        await hostile(judge)
        called = judge.called
    called |= await study(tools)
    await cancelled(tools)
    await looking(tools)
    missing = {tool.name for tool in tools} - called
    assert not missing, f"never called: {missing}"
    print(f"{MODE}: {len(tools)} tools")


asyncio.run(main())
