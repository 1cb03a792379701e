DROP INDEX `payments_credit`;--> statement-breakpoint
CREATE UNIQUE INDEX `payments_credit` ON `payments` (`network`,`tx_hash`,`output_index`) WHERE invoice_id is not null and matched_by <> 'MANUAL';