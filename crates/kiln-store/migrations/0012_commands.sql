-- Version 12: attempts that were to show something know the whole command.

ALTER TABLE attempts ADD COLUMN command text; -- as it was typed, beside a hypothesis
