CREATE TABLE `operator_alerts` (
	`cause` text PRIMARY KEY NOT NULL,
	`detail` text NOT NULL,
	`began_at_ms` integer NOT NULL,
	`ended_at_ms` integer,
	`mailed_at_ms` integer NOT NULL,
	`is_mailed` integer NOT NULL
);
