export default {
  // Below another project's folder, as the guide has it, Next.js would take that for the root.
  turbopack: { root: import.meta.dirname },
  // An order has one address: people get its page, programs that accept JSON its state.
  rewrites: async () => ({
    beforeFiles: [
      {
        source: "/orders/:id",
        has: [{ type: "header", key: "accept", value: ".*application/json.*" }],
        destination: "/api/orders/:id",
      },
    ],
  }),
};
