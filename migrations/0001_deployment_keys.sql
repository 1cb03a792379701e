CREATE TABLE `deployment_keys` (
	`keyring` text NOT NULL,
	`key_id` text NOT NULL,
	`fingerprint` text NOT NULL,
	`kept` text,
	`mac` text,
	`mac_key_id` text,
	`left_at_ms` integer,
	`unused_since_ms` integer,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`keyring`, `key_id`)
);
--> statement-breakpoint
CREATE TABLE `key_walks` (
	`name` text PRIMARY KEY NOT NULL,
	`keys` text NOT NULL,
	`kind` text NOT NULL,
	`after` integer NOT NULL,
	`met` text NOT NULL,
	`began_at_ms` integer NOT NULL,
	`ended_at_ms` integer
);
