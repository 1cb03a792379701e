CREATE TABLE `network_rereads` (
	`network` text PRIMARY KEY NOT NULL,
	`from_height` integer NOT NULL,
	`to_height` integer NOT NULL,
	`next_height` integer NOT NULL,
	`after_ms` integer DEFAULT 0 NOT NULL,
	`after_position` integer DEFAULT 0 NOT NULL,
	`transfers` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`last_outage` text,
	`requested_at_ms` integer NOT NULL,
	`ended_at_ms` integer
);
--> statement-breakpoint
ALTER TABLE `merchants` ADD `suspended_at_ms` integer;--> statement-breakpoint
ALTER TABLE `network_cursors` ADD `paused_at_ms` integer;--> statement-breakpoint
CREATE INDEX `network_cursors_paused` ON `network_cursors` (`network`) WHERE paused_at_ms is not null;