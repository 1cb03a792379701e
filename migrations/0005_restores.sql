CREATE TABLE `restore_findings` (
	`id` text PRIMARY KEY NOT NULL,
	`epoch` integer NOT NULL,
	`reason` text NOT NULL,
	`merchant_id` text NOT NULL,
	`invoice_id` text,
	`network` text,
	`cryptocurrency` text,
	`address` text,
	`units` text,
	`known` text,
	`created_at_ms` integer NOT NULL,
	`reviewed_at_ms` integer,
	`reviewed_by` text
);
--> statement-breakpoint
CREATE INDEX `restore_findings_open` ON `restore_findings` (`created_at_ms`,`id`) WHERE reviewed_at_ms is null;--> statement-breakpoint
CREATE TABLE `restores` (
	`epoch` integer PRIMARY KEY NOT NULL,
	`restored_to_ms` integer NOT NULL,
	`operation_id` text NOT NULL,
	`phase` text NOT NULL,
	`at_name` text NOT NULL,
	`at_place` integer,
	`objects` integer DEFAULT 0 NOT NULL,
	`revocations` integer DEFAULT 0 NOT NULL,
	`recovered` integer DEFAULT 0 NOT NULL,
	`findings` integer DEFAULT 0 NOT NULL,
	`began_at_ms` integer NOT NULL,
	`opened_at_ms` integer,
	`ended_at_ms` integer
);
