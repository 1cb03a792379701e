ALTER TABLE `alert_proof` ADD `accepted_settings` text;--> statement-breakpoint
ALTER TABLE `alert_proof` ADD `proved_settings` text;