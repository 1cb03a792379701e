export default {
  // In a folder inside another project, as in the guide, Next.js would take that project for the root.
  turbopack: { root: import.meta.dirname },
  // An order has one address: people get its page, and programs that accept JSON get its state.
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
