-- Version 7: how many distinct shapes the cases of a validation had.

ALTER TABLE validations ADD COLUMN shapes bigint;  -- null where an older kiln wrote it
