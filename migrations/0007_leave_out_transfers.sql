CREATE TABLE `left_out_transfers` (
	`network` text NOT NULL,
	`tx_hash` text NOT NULL,
	`output_index` text NOT NULL,
	`block_hash` text NOT NULL,
	`effect` text NOT NULL,
	`decided_at_ms` integer NOT NULL,
	PRIMARY KEY(`network`, `tx_hash`, `output_index`)
);
--> statement-breakpoint
CREATE INDEX `left_out_transfers_decided` ON `left_out_transfers` (`decided_at_ms`);--> statement-breakpoint
DROP INDEX `payments_unmatched`;--> statement-breakpoint
CREATE INDEX `payments_loose_unmatched` ON `payments` (`network`,`to_address`,`created_at_ms`,`merchant_id`,`usd_micros`) WHERE status = 'UNMATCHED';--> statement-breakpoint
CREATE INDEX `payments_loose_ignored` ON `payments` (`network`,`to_address`,`created_at_ms`,`merchant_id`) WHERE status = 'IGNORED';