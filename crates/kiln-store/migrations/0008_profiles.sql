-- Version 8: profiles, with what each promised.

CREATE TABLE profiles (
    id text NOT NULL PRIMARY KEY,
    at_ms bigint NOT NULL,
    study text,                  -- the study that took it; null for a profile of its own
    kernel text NOT NULL,
    path text NOT NULL,
    target text NOT NULL,
    arch text,
    variant text NOT NULL,
    config text NOT NULL,
    workload text NOT NULL,
    shape text NOT NULL,         -- the workload's dimensions
    device text NOT NULL,
    level text NOT NULL,
    coarse bigint NOT NULL,      -- 1 where there were no counters
    code text NOT NULL,          -- hash of the machine code, or of the sources where there is none
    cause text,                  -- null where no rule applied
    expected_speedup double precision NOT NULL,
    ranked text NOT NULL,        -- JSON, every cause with its promise
    time_us double precision,    -- of a call, or of the longest launch
    activity text NOT NULL,      -- JSON, the way it works
    page text,                   -- where the raw page is
    kiln_version text NOT NULL
);

CREATE INDEX profiles_by_kernel ON profiles (kernel, at_ms);
