CREATE TABLE `deployment` (
	`id` integer PRIMARY KEY NOT NULL,
	`set_up_at_ms` integer NOT NULL,
	`origin` text,
	CONSTRAINT "deployment_is_one" CHECK("deployment"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE `set_up_links` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`used_at_ms` integer,
	`used_by` text
);
--> statement-breakpoint
ALTER TABLE `users` ADD `operator_since_ms` integer;--> statement-breakpoint
-- A deployment that already has users is in use: it must not wait for a set-up link.
INSERT INTO `deployment` (`id`, `set_up_at_ms`, `origin`) SELECT 1, unixepoch() * 1000, NULL WHERE EXISTS (SELECT 1 FROM `users`);
