import { useResource, useWarrenClient } from "@warren/react";
import { bucketsOf, spentIn, type Span, type Spent } from "./spending";

/** What was spent, bucket by bucket and agent by agent: one small call a bucket. */
export function useSpending(span: Span) {
  const client = useWarrenClient();
  return useResource<readonly Spent[]>(`spending ${span}`, async () => {
    const buckets = bucketsOf(span, new Date());
    return Promise.all(
      buckets.map(async (bucket) => {
        const report = await client.usage({ from: bucket.from.toISOString(), to: bucket.to.toISOString(), groupBy: "agent" });
        return spentIn(bucket, report);
      }),
    );
  });
}
