import { PageHeader } from "../shell/page-header.tsx";

export function WelcomePage() {
  return <PageHeader title="Welcome" />;
}
