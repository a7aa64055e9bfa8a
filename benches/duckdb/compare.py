#!/usr/bin/env python3
"""Reads one file with shardlab and with DuckDB, places every id on a node and counts, in turns.

    python3 -m venv /tmp/duckdb && /tmp/duckdb/bin/pip install -r benches/duckdb/requirements.txt
    cargo build --release --bin shardlab
    /tmp/duckdb/bin/python benches/duckdb/compare.py --json duckdb.json

The job is `hash(id) % n`, grouped and counted. DuckDB does exactly that; shardlab does it with its
scheme modulo, and beside it counts what four changes of membership move and writes the digest of
the keys, which is part of its time. Both start from a cold process and a file in the page cache.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

# The other process: DuckDB's own start and import are not the job.
DUCKDB = """
import duckdb, json, sys, time
read, nodes, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connection = duckdb.connect(config={"threads": threads})
start = time.perf_counter()
rows = connection.execute(
    f"SELECT hash(id) % {nodes} AS node, count(*) FROM {read} GROUP BY node"
).fetchall()
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "rows": sum(count for _, count in rows), "nodes": len(rows)}))
"""


def make_files(folder, rows):
    """The same documents as NDJSON and as CSV: ids of 20 letters, a tenant and a size."""
    draw = random.Random(20)
    paths = {"ndjson": folder / "documents.ndjson", "csv": folder / "documents.csv"}
    with open(paths["ndjson"], "w") as ndjson, open(paths["csv"], "w") as table:
        table.write("_id,tenant,size\n")
        for _ in range(rows):
            bits = draw.getrandbits(120)
            name = "".join(LETTERS[bits >> shift & 63] for shift in range(0, 120, 6))
            tenant, size = draw.getrandbits(10), draw.getrandbits(16)
            ndjson.write(f'{{"_id":"{name}","tenant":{tenant},"size":{size}}}\n')
            table.write(f"{name},{tenant},{size}\n")
    return paths


def read_in_duckdb(form, path):
    quoted = str(path).replace("'", "''")
    if form == "csv":
        source = f"read_csv('{quoted}', header=true, columns={{'_id': 'VARCHAR', 'tenant': 'INTEGER', 'size': 'INTEGER'}})"
    else:
        source = f"read_json('{quoted}', format='newline_delimited', columns={{'_id': 'VARCHAR'}})"
    return f'(SELECT "_id" AS id FROM {source})'


def run_duckdb(form, path, arguments):
    command = [sys.executable, "-c", DUCKDB, read_in_duckdb(form, path), str(arguments.nodes), str(arguments.threads)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return answer["seconds"], answer["rows"]


def run_shardlab(schemes):
    def run(form, path, arguments):
        command = [arguments.shardlab, "compare", "--nodes", str(arguments.nodes), "--keys", str(path)]
        command += ["--keys-format", form, "--threads", str(arguments.threads), "--timing", "off", "--format", "json"]
        for scheme in schemes:
            command += ["--scheme", scheme]
        start = time.perf_counter()
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return time.perf_counter() - start, answer["keys"]["accepted"]

    return run


def machine():
    try:
        lines = open("/proc/cpuinfo").read().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = "processor unknown"
    return f"{name}, {os.cpu_count()} CPUs"


def quartiles(values):
    values = sorted(values)
    return [values[round(part * (len(values) - 1))] for part in (0.25, 0.5, 0.75)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shardlab", default=str(ROOT / "target/release/shardlab"), help="the program")
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="also write the result there, for cargo xtask record --duckdb")
    arguments = parser.parse_args()
    if min(arguments.rows, arguments.nodes, arguments.threads, arguments.rounds) < 1:
        parser.error("--rows, --nodes, --threads and --rounds are at least 1")
    if not pathlib.Path(arguments.shardlab).exists():
        parser.error(f"{arguments.shardlab} is not there; cargo build --release --bin shardlab makes it")
    import duckdb

    jobs = {
        "duckdb": run_duckdb,
        "shardlab, modulo": run_shardlab(["modulo"]),
        "shardlab, 4 schemes": run_shardlab(["modulo", "jump", "ring", "maglev"]),
    }
    result = {"machine": machine(), "duckdb": duckdb.__version__, "rows": arguments.rows, "nodes": arguments.nodes}
    result |= {"threads": arguments.threads, "rounds": arguments.rounds, "forms": {}}
    text = [
        f"{arguments.rows} documents on {arguments.nodes} nodes, {arguments.threads} threads, DuckDB {duckdb.__version__}, "
        f"{machine()}. Medians of {arguments.rounds} rounds in turns; the ratio is DuckDB's time over ours, above 1 where "
        "ours is faster.",
        "",
        "| file | job | seconds | million documents a second | ratio (quartiles) |",
        "|---|---|--:|--:|--:|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for form, path in make_files(pathlib.Path(folder), arguments.rows).items():
            seconds = {name: [] for name in jobs}
            for round_ in range(arguments.rounds + 1):
                for name, job in jobs.items():
                    took, rows = job(form, path, arguments)
                    if rows != arguments.rows:
                        sys.exit(f"{name} counted {rows} of {arguments.rows} documents in {path.name}")
                    # The first round only fills the page cache.
                    if round_ > 0:
                        seconds[name].append(took)
            result["forms"][form] = {"bytes": path.stat().st_size, "seconds": seconds}
            for name, times in seconds.items():
                ratios = [theirs / ours for theirs, ours in zip(seconds["duckdb"], times)]
                low, middle, high = quartiles(ratios)
                median = statistics.median(times)
                shown = "" if name == "duckdb" else f"{middle:.2f} ({low:.2f} to {high:.2f})"
                text.append(f"| {form} | {name} | {median:.3f} | {arguments.rows / median / 1e6:.1f} | {shown} |")
    result["text"] = "\n".join(text) + "\n"
    print(result["text"], end="")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
