ALTER TABLE `invoices` ADD `late_grace_until_ms` integer;--> statement-breakpoint
ALTER TABLE `merchants` ADD `late_grace_seconds` integer DEFAULT 0 NOT NULL;