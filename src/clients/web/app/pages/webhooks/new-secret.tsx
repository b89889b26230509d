import { Copyable } from '../../kit/copyable.tsx'

/** The secret of a webhook, which the server returns only once. */
export function NewSecret({ secret }: { secret: string }) {
  return (
    <div class="shown-once" role="status">
      <p>Copy the secret now; it is not shown again. The receiver verifies the signatures of the requests with it.</p>
      <Copyable text={secret} />
    </div>
  )
}
