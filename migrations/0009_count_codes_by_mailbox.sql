DROP INDEX `email_codes_address`;--> statement-breakpoint
ALTER TABLE `email_codes` ADD `mailbox` text;--> statement-breakpoint
UPDATE `email_codes` SET `mailbox` = `email_key`;--> statement-breakpoint
CREATE INDEX `email_codes_mailbox` ON `email_codes` (`mailbox`,`created_at_ms`) WHERE is_counted;