import { PageHeader } from "../shell/page-header.tsx";

export function InvoicesPage() {
  return <PageHeader title="Invoices" />;
}
