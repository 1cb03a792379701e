CREATE TABLE `network_cursors` (
	`network` text PRIMARY KEY NOT NULL,
	`is_resting` integer NOT NULL,
	`since_ms` integer NOT NULL,
	`height` integer,
	`hash` text,
	`checkpoints` text NOT NULL,
	`passed_ms` integer NOT NULL,
	`last_moved_at_ms` integer NOT NULL,
	`tip_height` integer,
	`finalized_height` integer,
	`tip_time_ms` integer,
	`ticked_at_ms` integer,
	`degraded_since_ms` integer,
	`last_outage` text
);
--> statement-breakpoint
CREATE TABLE `payment_claims` (
	`id` text PRIMARY KEY NOT NULL,
	`invoice_id` text NOT NULL,
	`merchant_id` text NOT NULL,
	`network` text NOT NULL,
	`tx_hash` text NOT NULL,
	`outcome` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `payment_claims_of_invoice` ON `payment_claims` (`invoice_id`,`created_at_ms`);--> statement-breakpoint
DROP INDEX `invoices_due`;--> statement-breakpoint
CREATE INDEX `invoices_due` ON `invoices` (`expires_at_ms`) WHERE status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION');--> statement-breakpoint
DROP INDEX `payments_identity`;--> statement-breakpoint
ALTER TABLE `payments` ADD `usd_micros` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `block_hash` text;--> statement-breakpoint
ALTER TABLE `payments` ADD `block_time_ms` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `last_known_at_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `final_at_ms` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `evidence` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `payments` ADD `resolution` text;--> statement-breakpoint
CREATE UNIQUE INDEX `payments_credit` ON `payments` (`network`,`tx_hash`,`output_index`) WHERE invoice_id is not null;--> statement-breakpoint
CREATE INDEX `payments_transaction` ON `payments` (`network`,`tx_hash`);--> statement-breakpoint
CREATE INDEX `payments_open` ON `payments` (`network`) WHERE final_at_ms is null;--> statement-breakpoint
CREATE INDEX `payments_feed` ON `payments` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `payments_by_status` ON `payments` (`merchant_id`,`status`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `payments_unmatched` ON `payments` (`network`,`to_address`,`created_at_ms`) WHERE status = 'UNMATCHED';--> statement-breakpoint
CREATE UNIQUE INDEX `payments_identity` ON `payments` (`merchant_id`,`network`,`tx_hash`,`output_index`);--> statement-breakpoint
ALTER TABLE `payment_methods` ADD `remainder_units` text;--> statement-breakpoint
CREATE INDEX `payment_methods_watch` ON `payment_methods` (`network`,`activated_at_ms`) WHERE status = 'ACTIVE';