
/* Push mode, made by `flowpin cc scanner`: the scanner gets a stream in pieces, and stops in the
 * middle of a token where a piece ends. What a stream's scanner knows between two pieces is in a
 * struct yyflow: the start condition, the bytes of the unfinished token, and the variables that
 * `#pragma flowpin perflow` names. Buffers are one for all streams. */

#ifndef YYFLOW_TOKEN_MAX
#define YYFLOW_TOKEN_MAX 65536 /* a longer token ends its stream's scan */
#endif

struct yyflow {
	char *yy_carried;
	int yy_carried_count;
	int yy_start_condition;
	int yy_line;
	char yy_is_at_bol;
	char yy_is_dead;
@FIELDS@};

/* The next bytes for the buffer: first what was carried over, then the piece. */
static int yyflow_pull(char *buffer, int room) {
	int from;
	for (from = 0; from < 2; from++) {
		int count = yyflow_count[from] < room ? yyflow_count[from] : room;
		if (count > 0) {
			memcpy(buffer, yyflow_bytes[from], (size_t)count);
			yyflow_bytes[from] += count;
			yyflow_count[from] -= count;
			return count;
		}
	}
	return 0;
}

struct yyflow *yyflow_new(void) {
	static struct yyflow initial;
	static int has_initial;
	struct yyflow *flow = calloc(1, sizeof *flow);
	if (!has_initial) {
		has_initial = 1;
		initial.yy_start_condition = 1;
		initial.yy_line = 1;
		initial.yy_is_at_bol = 1;
@SAVE_INITIAL@	}
	if (flow) *flow = initial;
	return flow;
}

void yyflow_free(struct yyflow *flow) {
	if (flow) free(flow->yy_carried);
	free(flow);
}

/* Takes the state of a stream into the scanner's variables. */
static void yyflow_enter(struct yyflow *flow, const char *bytes, int count) {
	if (!YY_CURRENT_BUFFER) {
		yyensure_buffer_stack();
		YY_CURRENT_BUFFER_LVALUE = yy_create_buffer(0, YY_BUF_SIZE);
	}
	(yy_init) = 1;
	yy_flush_buffer(YY_CURRENT_BUFFER);
	yy_load_buffer_state();
	YY_CURRENT_BUFFER_LVALUE->yy_at_bol = flow->yy_is_at_bol;
	(yy_start) = flow->yy_start_condition;
	yylineno = flow->yy_line;
	yyflow_bytes[0] = flow->yy_carried;
	yyflow_count[0] = flow->yy_carried_count;
	yyflow_bytes[1] = bytes;
	yyflow_count[1] = count;
@TAKE@}

/* Gives it back, with the bytes of the unfinished token. */
static int yyflow_leave(struct yyflow *flow) {
	char *rest = (yy_c_buf_p);
	int count = (int)(YY_CURRENT_BUFFER_LVALUE->yy_ch_buf + (yy_n_chars) - rest);
	char *carried = 0;
	if (yyflow_is_done || count < 0) count = 0;
	*rest = (yy_hold_char);
	if (count > YYFLOW_TOKEN_MAX) return -1;
	if (count > 0) {
		carried = malloc((size_t)count);
		if (!carried) return -1;
		memcpy(carried, rest, (size_t)count);
	}
	free(flow->yy_carried);
	flow->yy_carried = carried;
	flow->yy_carried_count = count;
	flow->yy_start_condition = (yy_start);
	flow->yy_line = yylineno;
	flow->yy_is_at_bol = (char)YY_CURRENT_BUFFER_LVALUE->yy_at_bol;
@SAVE@	return 0;
}

/* Scans a piece of a stream, the last one if `is_last`; calls `token` for what yylex returns.
 * Returns 0, or -1 if the stream is not scanned any more: a token became too long, or memory is
 * short. */
int yyflow_scan(struct yyflow *flow, const char *bytes, int count, int is_last,
		void (*token)(int token, void *user), void *user) {
	int found;
	if (flow->yy_is_dead) return -1;
	yyflow_is_last = is_last;
	yyflow_is_done = 0;
	yyflow_enter(flow, bytes, count);
	while ((found = yylex()) != YY_NEED_MORE) {
		if (!yyflow_is_done || found > 0) token(found, user);
		if (yyflow_is_done) break;
	}
	if (yyflow_leave(flow)) flow->yy_is_dead = 1;
	if (yyflow_is_done) flow->yy_is_dead = 1;
	return flow->yy_is_dead && !is_last ? -1 : 0;
}
