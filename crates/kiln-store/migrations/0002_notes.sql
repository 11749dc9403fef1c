-- Version 2: free remarks about a study.

CREATE TABLE notes (
    study text NOT NULL REFERENCES studies (id),
    place bigint NOT NULL,       -- the order noted
    at_ms bigint NOT NULL,
    kind text NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (study, place)
);
