// Stub of the module `cloudflare:workers`, which only Workers have: the parts that the client uses.
export class DurableObject {
	constructor(ctx, env) {
		this.ctx = ctx;
		this.env = env;
	}
}
export class WorkerEntrypoint extends DurableObject {}
export class RpcTarget {}
export class RpcStub {}
export const tracing = undefined;
export const env = {};
