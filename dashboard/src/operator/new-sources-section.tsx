// Public data sources for networks without one, on the operators' page.
import { useState } from "react";
import { useList } from "../api/queries.ts";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { PublicSources } from "./public-sources.tsx";

export function NewSourcesSection() {
  const networks = useList("listNetworks", {});
  const [chosen, setChosen] = useState<readonly string[]>([]);
  return (
    <Section
      title="Add data sources"
      about="A network without a data source takes no payments. These public sources need no account. None of them was tried by this project: add them, then try them above."
    >
      <Read query={networks}>{(read) => <PublicSources networks={read} chosen={chosen} onChosen={setChosen} />}</Read>
    </Section>
  );
}
