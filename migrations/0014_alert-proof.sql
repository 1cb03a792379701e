CREATE TABLE `alert_proof` (
	`id` integer PRIMARY KEY NOT NULL,
	`accepted_at_ms` integer,
	`proved_at_ms` integer,
	`dismissed_at_ms` integer,
	CONSTRAINT "alert_proof_is_one" CHECK("alert_proof"."id" = 1)
);
