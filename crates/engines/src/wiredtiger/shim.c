/* Functions that call WiredTiger through its structures of function pointers. The layout of these structures changes
 * from version to version, so this file is compiled with the header of the linked library. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wiredtiger.h>

/* The session and the cursor of one thread. */
typedef struct {
    WT_SESSION *session;
    WT_CURSOR *cursor;
} shim_thread;

static void set_key(WT_CURSOR *cursor, const void *key, size_t bytes) {
    WT_ITEM item;
    memset(&item, 0, sizeof(item));
    item.data = key;
    item.size = bytes;
    cursor->set_key(cursor, &item);
}

int shim_open(const char *home, const char *config, WT_CONNECTION **connection) {
    return wiredtiger_open(home, NULL, config, connection);
}

int shim_close(WT_CONNECTION *connection) {
    return connection->close(connection, NULL);
}

int shim_begin_thread(WT_CONNECTION *connection, const char *uri, const char *create, shim_thread **result) {
    shim_thread *thread = calloc(1, sizeof(*thread));
    int error;
    if (thread == NULL)
        return WT_ERROR;
    if ((error = connection->open_session(connection, NULL, NULL, &thread->session)) == 0 &&
        (error = thread->session->create(thread->session, uri, create)) == 0)
        error = thread->session->open_cursor(thread->session, uri, NULL, NULL, &thread->cursor);
    if (error != 0) {
        free(thread);
        return error;
    }
    *result = thread;
    return 0;
}

/* Frees only the structure, because closing the connection also closes its sessions. */
void shim_end_thread(shim_thread *thread) {
    free(thread);
}

int shim_put(shim_thread *thread, const void *key, size_t key_bytes, const void *value, size_t value_bytes) {
    WT_ITEM item;
    int error;
    memset(&item, 0, sizeof(item));
    item.data = value;
    item.size = value_bytes;
    set_key(thread->cursor, key, key_bytes);
    thread->cursor->set_value(thread->cursor, &item);
    error = thread->cursor->insert(thread->cursor);
    thread->cursor->reset(thread->cursor);
    return error;
}

int shim_remove(shim_thread *thread, const void *key, size_t bytes) {
    int error;
    set_key(thread->cursor, key, bytes);
    error = thread->cursor->remove(thread->cursor);
    thread->cursor->reset(thread->cursor);
    return error == WT_NOTFOUND ? 0 : error;
}

/* Leaves the cursor on the entry, so that the value of the entry stays in place until shim_reset. */
int shim_search(shim_thread *thread, const void *key, size_t bytes) {
    set_key(thread->cursor, key, bytes);
    return thread->cursor->search(thread->cursor);
}

int shim_search_near(shim_thread *thread, const void *key, size_t bytes, int *where) {
    set_key(thread->cursor, key, bytes);
    return thread->cursor->search_near(thread->cursor, where);
}

int shim_next(shim_thread *thread) {
    return thread->cursor->next(thread->cursor);
}

int shim_prev(shim_thread *thread) {
    return thread->cursor->prev(thread->cursor);
}

int shim_reset(shim_thread *thread) {
    return thread->cursor->reset(thread->cursor);
}

int shim_key(shim_thread *thread, const void **data, size_t *bytes) {
    WT_ITEM item;
    int error = thread->cursor->get_key(thread->cursor, &item);
    *data = item.data;
    *bytes = item.size;
    return error;
}

int shim_value(shim_thread *thread, const void **data, size_t *bytes) {
    WT_ITEM item;
    int error = thread->cursor->get_value(thread->cursor, &item);
    *data = item.data;
    *bytes = item.size;
    return error;
}

int shim_begin(shim_thread *thread) {
    return thread->session->begin_transaction(thread->session, "isolation=snapshot");
}

int shim_commit(shim_thread *thread) {
    return thread->session->commit_transaction(thread->session, NULL);
}

int shim_rollback(shim_thread *thread) {
    return thread->session->rollback_transaction(thread->session, NULL);
}

int shim_checkpoint(shim_thread *thread) {
    return thread->session->checkpoint(thread->session, NULL);
}

int shim_is_conflict(int error) {
    return error == WT_ROLLBACK;
}

int shim_is_missing(int error) {
    return error == WT_NOTFOUND;
}

const char *shim_text(int error) {
    return wiredtiger_strerror(error);
}

void shim_version(int *major, int *minor, int *patch) {
    (void)wiredtiger_version(major, minor, patch);
}
