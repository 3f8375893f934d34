/** The text of `grpc-message`, which is percent-encoded; one that is not is taken as it is. */
export function decodeGrpcMessage(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
