// refused: an access to foreign
extern int foreign;
int main(void) {
    return foreign; /* here */
}
