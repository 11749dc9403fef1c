-- Version 4: names and tags of studies.

CREATE TABLE study_names (
    study text NOT NULL PRIMARY KEY REFERENCES studies (id),
    name text NOT NULL UNIQUE
);

CREATE TABLE study_tags (
    study text NOT NULL REFERENCES studies (id),
    tag text NOT NULL,
    PRIMARY KEY (study, tag)
);
