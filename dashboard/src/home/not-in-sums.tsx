import { Text } from "@mantine/core";
import { useFormats } from "../shell/reader.tsx";
import { type Sums, testPaymentsOf } from "./sums.ts";

/** Payments that are not included in the sums. */
export function NotInSums({ of }: { readonly of: Sums }) {
  const { count } = useFormats();
  const tests = testPaymentsOf(of);
  const payments = (number: number) => (number === 1 ? "One payment" : `${count(number)} payments`);
  return (
    <>
      {of.unpriced > 0 && (
        <Text size="sm" c="dimmed">
          {payments(of.unpriced)} {of.unpriced === 1 ? "has" : "have"} no value in a currency and{" "}
          {of.unpriced === 1 ? "is" : "are"} included only in the totals by coin.
        </Text>
      )}
      {tests > 0 && (
        <Text size="sm" c="dimmed">
          {payments(tests)} on test networks {tests === 1 ? "is" : "are"} not included: test coins have no value.
        </Text>
      )}
    </>
  );
}
