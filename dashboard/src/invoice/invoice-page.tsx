import { PageHeader } from "../shell/page-header.tsx";

export function InvoicePage() {
  return <PageHeader title="Invoice" />;
}
