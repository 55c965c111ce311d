/* Inodes and blocks under locks (Flanagan and Godefroid). */
#include "common.h"

#ifndef N
#define N 16
#endif
#define BLOCKS 26
#define INODES 32
static pthread_mutex_t inode_lock[INODES], block_lock[BLOCKS];
static int inode[INODES], busy[BLOCKS];
static void *run(void *arg) {
    int tid = (int)(long)arg, i = tid % INODES;
    pthread_mutex_lock(&inode_lock[i]);
    if (inode[i] == 0) {
        int b = (i * 2) % BLOCKS;
        for (;;) {
            pthread_mutex_lock(&block_lock[b]);
            if (!busy[b]) {
                busy[b] = 1;
                inode[i] = b + 1;
                pthread_mutex_unlock(&block_lock[b]);
                break;
            }
            pthread_mutex_unlock(&block_lock[b]);
            b = (b + 1) % BLOCKS;
        }
    }
    pthread_mutex_unlock(&inode_lock[i]);
    return NULL;
}
int main(void) {
    for (int i = 0; i < N; i++) spawn(run, i);
    join_all();
    return 0;
}
