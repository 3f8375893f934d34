// Writes src/cri-api/api.ts from proto/. Needs protoc (Debian: protobuf-compiler); the result is committed,
// so building and running never do. Another directory may be named, to compare.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const out = process.argv[2] ?? join(root, 'src/cri-api')

const options = [
  'forceLong=bigint', // 2^53 ns is 104 core-days: numbers would lose digits
  'unknownFields=true', // what a newer runtime adds survives a decode and encode
  'outputServices=generic-definitions', // no gRPC package in the generated code
  'outputJsonMethods=to-only', // answers are printed as JSON, never read from it
  'env=node',
  'useOptionals=messages', // an absent sub-message is undefined, an empty one an object
  'importSuffix=.js',
]

const { status, error } = spawnSync(
  'protoc',
  [
    `--plugin=protoc-gen-ts_proto=${join(root, 'node_modules/.bin/protoc-gen-ts_proto')}`,
    `--proto_path=${join(root, 'proto/cri/runtime/v1')}`,
    `--ts_proto_out=${out}`,
    `--ts_proto_opt=${options.join(',')}`,
    'api.proto',
  ],
  { stdio: 'inherit' },
)
if (error) {
  process.stderr.write(`gen-proto: cannot run protoc: ${error.message}; install protobuf-compiler\n`)
}
process.exitCode = status ?? 1
