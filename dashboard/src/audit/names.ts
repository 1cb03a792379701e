// The names of the objects in log entries: the log has only ids, because names can be changed and erased.
import { useQueries } from "@tanstack/react-query";
import type { AuditEvent } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { useFormats } from "../shell/reader.tsx";
import type { Known } from "./sentence.ts";

interface Names extends Pick<Known, "nameOf" | "moneyOf" | "money" | "coins"> {}

/**
 * Names for the objects in these entries. Reads each invoice once, but none if the user may not see invoices: an entry then says "an invoice".
 * `others`: names that are already known.
 */
export function useNames(entries: readonly AuditEvent[], others: ReadonlyMap<string, string>): Names {
  const { id: merchantId } = useMerchant();
  const { money, coins } = useFormats();
  const maySee = useMay("invoice:view");
  const ids = maySee ? [...new Set(entries.flatMap(invoiceIdsOf))] : [];
  const invoices = useQueries({
    queries: ids.map((invoiceId) => ({
      ...reading("getInvoice", { merchantId, params: { invoiceId } }),
      retry: false,
    })),
    combine: (results) =>
      new Map(results.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data] as const]))),
  });
  return {
    nameOf: (id) => invoices.get(id)?.name ?? others.get(id),
    moneyOf: (amount, invoiceId) => {
      const invoice = invoices.get(invoiceId);
      return invoice === undefined ? coins(amount) : money(amount, invoice.currency);
    },
    money,
    coins,
  };
}

function invoiceIdsOf({ target, after }: AuditEvent): readonly string[] {
  return [target, after?.invoiceId].filter((id) => typeof id === "string").filter((id) => id.startsWith("inv_"));
}
