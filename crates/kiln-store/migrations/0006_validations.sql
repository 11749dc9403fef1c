-- Version 6: configurations that so many fuzz cases found nothing wrong with.

CREATE TABLE validations (
    id text NOT NULL PRIMARY KEY,
    at_ms bigint NOT NULL,
    kernel text NOT NULL,
    path text NOT NULL,
    target text NOT NULL,
    arch text,
    variant text NOT NULL,
    config text NOT NULL,
    runs bigint NOT NULL,
    seed text NOT NULL,          -- decimal, as in studies
    device text NOT NULL,
    spec_hash text NOT NULL,     -- of the kernel file
    sources text NOT NULL,       -- hash of everything that decides what is computed
    kiln_version text NOT NULL
);

CREATE INDEX validations_by_kernel ON validations (kernel, at_ms);
