-- Version 3: benchmarks, each with one row for every side on every workload.

CREATE TABLE runs (
    id text NOT NULL PRIMARY KEY,
    started_ms bigint NOT NULL,
    seconds double precision NOT NULL,
    kernel text NOT NULL,
    path text NOT NULL,
    target text NOT NULL,
    arch text,
    variant text NOT NULL,
    config text,                 -- none where only baselines were measured
    cache text NOT NULL,
    threads bigint NOT NULL,
    seed text NOT NULL,          -- decimal, as in studies
    device text NOT NULL,
    environment text NOT NULL,   -- JSON
    git_commit text,
    spec_hash text NOT NULL,
    kiln_version text NOT NULL,
    result text NOT NULL         -- JSON: all figures, as `kiln bench --json` prints them
);

CREATE INDEX runs_by_time ON runs (started_ms);
CREATE INDEX runs_by_kernel ON runs (kernel, started_ms);

CREATE TABLE run_sides (
    run text NOT NULL REFERENCES runs (id),
    place bigint NOT NULL,
    workload text NOT NULL,
    side text NOT NULL,          -- empty for the configuration that was measured
    median_s double precision,   -- none where it could not be measured
    speedup double precision,
    speedup_low double precision,
    speedup_high double precision,
    verdict text,
    peak_memory bigint,
    gpu_memory bigint,
    refusal text,                -- JSON: why it could not
    PRIMARY KEY (run, place)
);
