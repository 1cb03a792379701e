ALTER TABLE `api_keys` ADD `given_to` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `rights` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `question` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `unused_until_ms` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_question` ON `api_keys` (`question`);