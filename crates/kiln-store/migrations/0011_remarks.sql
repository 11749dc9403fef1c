-- Version 11: remarks of reviewers.

CREATE TABLE remarks (
    id text NOT NULL PRIMARY KEY,
    at_ms bigint NOT NULL,
    about text NOT NULL,         -- trial, decision, lesson or cause
    subject text NOT NULL,       -- the study's id, the lesson's id, or the kernel's name
    phase text,                  -- of a trial
    number bigint,               -- of a trial
    cause text,                  -- of a diagnosis
    reviewer text NOT NULL,
    words text NOT NULL,
    kiln_version text NOT NULL
);

CREATE INDEX remarks_by_subject ON remarks (about, subject, at_ms);
