CREATE TABLE `stuck_addresses` (
	`network` text NOT NULL,
	`address` text NOT NULL,
	`source` text NOT NULL,
	`read_height` integer NOT NULL,
	`passed_ms` integer NOT NULL,
	`walk` text,
	`failures` integer NOT NULL,
	`since_ms` integer NOT NULL,
	`next_at_ms` integer NOT NULL,
	`reason` text NOT NULL,
	`told_at_ms` integer,
	PRIMARY KEY(`network`, `address`)
);
--> statement-breakpoint
CREATE INDEX `stuck_addresses_due` ON `stuck_addresses` (`network`,`next_at_ms`);--> statement-breakpoint
ALTER TABLE `network_cursors` ADD `progress` text DEFAULT '{}' NOT NULL;