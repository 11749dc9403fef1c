-- Version 9: what was found of commits, and how well medians are known.

CREATE TABLE commit_verdicts (
    id text NOT NULL PRIMARY KEY,
    at_ms bigint NOT NULL,
    kernel text NOT NULL,
    inside text NOT NULL,        -- the kernel's folder within its repository
    git_commit text NOT NULL,    -- of a tree without changes
    judged text NOT NULL,        -- build, check or fast
    good bigint NOT NULL,        -- 0 or 1
    target text NOT NULL,
    variant text NOT NULL,
    device text NOT NULL,
    words text NOT NULL,         -- why, in a sentence
    kiln_version text NOT NULL
);

CREATE INDEX commit_verdicts_by_kernel ON commit_verdicts (kernel, at_ms);

ALTER TABLE run_sides ADD COLUMN median_low double precision;   -- null where an older kiln wrote it
ALTER TABLE run_sides ADD COLUMN median_high double precision;
