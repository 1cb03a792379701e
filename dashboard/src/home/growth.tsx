import { Badge } from "@mantine/core";
import { useFormats } from "../shell/reader.tsx";

interface Props {
  /** 0.25 is a quarter more; undefined if there is nothing to compare with. */
  readonly ratio: number | undefined;
  /** Whether less is better, as for invoices that expired. */
  readonly isLessBetter?: boolean;
}

/** The change from the previous period. */
export function Growth({ ratio, isLessBetter = false }: Props) {
  const { percentage } = useFormats();
  if (ratio === undefined) return null;
  const isBetter = isLessBetter ? ratio < 0 : ratio > 0;
  const color = isBetter ? "green" : "orange";
  return <Badge color={ratio === 0 ? "gray" : color}>{percentage(ratio)}</Badge>;
}
