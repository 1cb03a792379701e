/** The command that sets a secret of the deployment; it asks for the value. */
export function setCommand(setting: string, hostname: string): string {
  return `npm run wrangler -- secret put ${setting} --name ${workerName(hostname)}`;
}

/** The command that tries public sources of these networks, and deploys those that answer; only for a deployment without sources. */
export function deployCommand(networks: readonly string[], hostname: string): string {
  return `npm run deploy -- --name ${workerName(hostname)} --public-sources ${networks.join(",")}`;
}

/** On workers.dev the first label is the Worker's name. A domain of the operator's own does not show it. */
function workerName(hostname: string): string {
  const [, name] = /^([a-z0-9-]+)\.[a-z0-9-]+\.workers\.dev$/.exec(hostname) ?? [];
  return name ?? "<name of the deployment>";
}
