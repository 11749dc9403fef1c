-- Version 10: commands that judged something, the sessions they belong to, and what was decided.

CREATE TABLE attempts (
    id text NOT NULL PRIMARY KEY,
    at_ms bigint NOT NULL,       -- when it began
    seconds double precision NOT NULL,
    session text,                -- the session that was open
    kernel text NOT NULL,        -- empty where it was about none
    path text NOT NULL,          -- the kernel's folder as the project sees it
    verb text NOT NULL,
    phase text NOT NULL,
    parts text NOT NULL,         -- JSON: seconds by phase where it went through several
    outcome text NOT NULL,       -- passed, refused, fault or interrupted
    cause text,                  -- the gate, finding or verdict it ended with
    words text,                  -- that in a sentence
    config text,
    config_digest text,
    sources text,                -- digest of the kernel file and its sources
    environment text NOT NULL,   -- NAME=VALUE lines
    environment_digest text NOT NULL,
    speedup double precision,
    workload text,               -- null for all together
    limited_by text,             -- what limits the kernel
    promise double precision,    -- the speedup that removing it promises
    lesson text,                 -- the lesson that fitted
    hypothesis text,             -- what somebody wanted to know by it
    kiln_version text NOT NULL
);

CREATE INDEX attempts_by_time ON attempts (at_ms);
CREATE INDEX attempts_by_kernel ON attempts (kernel, at_ms);
CREATE INDEX attempts_by_session ON attempts (session, at_ms);
CREATE INDEX attempts_by_lesson ON attempts (lesson, at_ms);

CREATE TABLE sessions (
    id text NOT NULL PRIMARY KEY,
    started_ms bigint NOT NULL,
    ended_ms bigint,
    state text NOT NULL,         -- open, ended or abandoned
    folder text NOT NULL,        -- the project's
    by_user text NOT NULL,
    about text NOT NULL,         -- JSON: the session as it was begun
    report text                  -- JSON, at its end
);

CREATE INDEX sessions_by_state ON sessions (state, folder, by_user);
CREATE INDEX sessions_by_time ON sessions (started_ms);

CREATE TABLE decisions (
    id text NOT NULL PRIMARY KEY,
    at_ms bigint NOT NULL,
    session text,
    kernel text NOT NULL,        -- empty where it was about none
    path text NOT NULL,
    kind text NOT NULL,          -- chosen, retired or restored
    options text NOT NULL,       -- JSON: what could have been done
    choice text NOT NULL,
    because text NOT NULL,
    by_user text NOT NULL
);

CREATE INDEX decisions_by_kernel ON decisions (kernel, at_ms);
CREATE INDEX decisions_by_session ON decisions (session, at_ms);
