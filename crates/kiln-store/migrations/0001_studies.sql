-- Version 1: studies, their trials, and the samples of each trial. Only text, bigint and double precision: types that
-- SQLite and PostgreSQL both take. A migration that has been released is never edited; a change is a new file.

CREATE TABLE kiln_schema (
    version bigint NOT NULL PRIMARY KEY,
    applied_ms bigint NOT NULL,
    kiln_version text NOT NULL
);

CREATE TABLE studies (
    id text NOT NULL PRIMARY KEY,
    started_ms bigint NOT NULL,
    ended_ms bigint,
    state text NOT NULL,
    owner text NOT NULL,
    kernel text NOT NULL,
    path text NOT NULL,
    target text NOT NULL,
    arch text,
    variant text NOT NULL,
    seed text NOT NULL,          -- decimal: it goes up to 2^64 - 1, a bigint does not
    strategy text NOT NULL,
    options text NOT NULL,       -- JSON
    environment text NOT NULL,   -- JSON
    git_commit text,
    spec_hash text NOT NULL,
    spec_text text NOT NULL,
    kiln_version text NOT NULL,
    verdict text,
    summary text,                -- JSON
    seconds double precision NOT NULL,
    recorded bigint NOT NULL     -- how many trials it has; the next one takes this as its place
);

CREATE INDEX studies_by_time ON studies (started_ms);
CREATE INDEX studies_by_kernel ON studies (kernel, started_ms);

CREATE TABLE trials (
    study text NOT NULL REFERENCES studies (id),
    place bigint NOT NULL,       -- the order recorded, over all phases
    phase text NOT NULL,
    number bigint NOT NULL,
    config text NOT NULL,
    state text NOT NULL,
    cost double precision,
    refusal text,                -- JSON
    workload text,
    artifact text,
    started_ms bigint NOT NULL,
    build_s double precision NOT NULL,
    check_s double precision NOT NULL,
    measure_s double precision NOT NULL,
    wall_s double precision NOT NULL,
    details text NOT NULL,       -- JSON
    PRIMARY KEY (study, place),
    UNIQUE (study, phase, number)
);

CREATE TABLE measurements (
    study text NOT NULL,
    place bigint NOT NULL,       -- of its trial
    item bigint NOT NULL,        -- the order within its trial
    workload text NOT NULL,
    subject text NOT NULL,
    block bigint NOT NULL,
    samples text NOT NULL,       -- JSON list of seconds, in digits that read back bit for bit
    calls bigint NOT NULL,
    cache text NOT NULL,
    PRIMARY KEY (study, place, item),
    FOREIGN KEY (study, place) REFERENCES trials (study, place)
);
