CREATE TABLE `checkouts` (
	`invoice_id` text PRIMARY KEY NOT NULL,
	`language` text NOT NULL,
	`opened_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `receipts` (
	`invoice_id` text NOT NULL,
	`recipient` text NOT NULL,
	`merchant_id` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_attempt_ms` integer,
	`sent_at_ms` integer,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`invoice_id`, `recipient`)
);
--> statement-breakpoint
CREATE INDEX `receipts_due` ON `receipts` (`next_attempt_ms`) WHERE next_attempt_ms is not null;--> statement-breakpoint
ALTER TABLE `merchants` ADD `mail_receipts_to_customers` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `merchants` ADD `mail_receipts_to_merchant` integer DEFAULT false NOT NULL;