-- Every sample of a benchmark, as JSON: workloads, sides, rounds. Older benchmarks have none.
ALTER TABLE runs ADD COLUMN samples TEXT;
