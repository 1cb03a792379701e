import { Skeleton, Stack } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem } from "./problem.tsx";

interface Props<T> {
  readonly query: UseQueryResult<T, Error>;
  readonly children: (data: T) => ReactNode;
}

/** Shows the loaded data, a placeholder while it loads, or the reason for a failure. */
export function Read<T>({ query, children }: Props<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <Problem error={query.error} retry={() => void query.refetch()} />;
  return (
    <Stack gap="xs" aria-busy="true">
      <Skeleton height={18} width="60%" />
      <Skeleton height={18} width="80%" />
      <Skeleton height={18} width="40%" />
    </Stack>
  );
}
